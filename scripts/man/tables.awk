# tables.awk - sets core/options.def and core/loss.def for man; with NAMES=1 only the names of the variables.

/^OPTION\(/ {
	split($0, args, /, /)
	name = "HEAPPROF_" args[3]
	split($0, texts, /"/)
	if (NAMES)
		print "\\fB" name "\\fP"
	else
		entry("\\fB" name "\\fP (default " plain(texts[2]) ")", prose(texts[4]))
}
/^LOSS\(/ {
	split($0, texts, /"/)
	entry("\\fB" substr($0, 6, index($0, ",") - 6) "\\fP", prose(texts[2]))
}
