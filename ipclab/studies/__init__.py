"""One question each: its factors, and how one point becomes samples."""
