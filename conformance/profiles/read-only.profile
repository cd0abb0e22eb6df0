# A Skua server over some of the reference tables. Statements that must be refused because they write are not sent.
can all
cannot reads-only
tables probe
