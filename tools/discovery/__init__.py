"""Whether a bank says what made the labels: three discovery scores, and the agreement of raters."""
