"""Tables and figures as the three papers print them."""
