"""The tables of the file, grouped by subject; `settings` has all of them."""
