"""Tables and figures in the form in which the reproduced papers print them."""
