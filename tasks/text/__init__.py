"""The family `text`, whose hypotheses are sentences about labelled text (HypoBench), and its task
`labels`.
"""
