"""Search for functions over lists of integers, by enumeration of programs and by deduction."""
