"""Reports: prose, claims and requirements judged, pages in three languages."""
