"""Tables and figures of the reproduced papers, in the same form as in the papers."""
