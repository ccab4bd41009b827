"""Search for functions over lists of integers: programs found by enumeration and deduction."""
