"""What applies hypotheses and what scores them: functions first, LangChain tools as thin wrappers."""
