"""The tables of the file, by what they are about; `settings` has all of them."""
