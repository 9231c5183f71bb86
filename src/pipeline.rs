//! Which stages, with which environment, joined how? The wrapper's plan.
