# A Skua server over the reference tables, everything declared.
can all
tables all
