//! Where does it go?
