"""What methods that keep a rewarded bank of sentences share (HypoGeniC; HypoBench, section 3)."""
