//! Where another system keeps its data, and who reads it.
