"""The family `logic`, whose hypotheses are exception rules about finite worlds (ABD), and its task
`abd`.
"""
