"""What commands print where a person reads: live pictures, lists, endings."""
