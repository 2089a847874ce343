"""The audit: quotations of published texts, the rules that they must meet, and verdicts."""
