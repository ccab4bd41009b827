"""From stored sessions to a better proposer: preference pairs, DPO with its curriculum, classifiers,
small proposers from nothing. Modules import torch and its kin late."""
