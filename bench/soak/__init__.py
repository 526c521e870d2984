"""Whether servers stay right under load: wrong answers, lost records, growing memory, and the time that calls take."""
