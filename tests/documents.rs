//! every format, through flecto-diff
