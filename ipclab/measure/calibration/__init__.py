"""What comparisons are worth on this machine. Nothing is imported here: every calibrating launch loads this anew."""
