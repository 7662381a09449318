# header.awk - sets the declarations of preload/mprof.h for man, each above the comment before it.

function trim(text) {
	gsub(/^[ \t]+|[ \t]+$/, "", text)
	return text
}

# The text of a comment's line.
function words(line) {
	sub(/^[ \t]*\/?\* ?/, "", line)
	sub(/ *\*\/$/, "", line)
	return line
}

function declare(line) {
	sub(/^MPROF_WEAK /, "", line)
	sub(/ \{$/, "", line)
	print "\\fB" plain(line) "\\fP"
}

function field(line,   at) {
	at = index(line, "/*")
	if (at == 1)
		print ".PP\n" prose(words(line))
	else
		entry("\\fB" plain(trim(at ? substr(line, 1, at - 1) : line)) "\\fP", at ? prose(words(substr(line, at))) : "")
}

# The head of the file is set elsewhere, and what has no comment is no part of the interface.
/^\/\*/ { commenting = 1; comment = "" }
commenting {
	comment = comment prose(words($0)) "\n"
	commenting = !/\*\/$/
	next
}
/^$/ && !in_struct {
	if (declaring)
		printf ".fi\n.RS\n%s.RE\n", comment
	declaring = 0
	comment = ""
}
/^#ifndef/ { comment = "" }
comment == "" { next }
/^};/ { print ".RE"; in_struct = declaring = 0; comment = ""; next }
in_struct { field(trim($0)); next }
!declaring { print ".PP\n.nf"; declaring = 1 }
{ declare($0) }
/^struct .*\{$/ { printf ".fi\n.RS\n%s", comment; in_struct = 1 }
