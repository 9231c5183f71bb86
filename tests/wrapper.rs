//! flecto: plans, statuses, signals, keys
