// Package sparktext writes values as Spark's casts to string do, and reads them from text as its casts from string do: numbers, dates, timestamps, intervals.
// It knows no types of columns; whoever casts has those.
package sparktext
