"""DPO by a curriculum of stages: what is drawn and probed when, the trainer, what lies in its folder."""
