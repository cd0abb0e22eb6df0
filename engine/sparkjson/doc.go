// Package sparkjson reads and writes JSON as Spark's functions of SQL do: leniently, in the order of what is written, and with its numbers' text.
package sparkjson
