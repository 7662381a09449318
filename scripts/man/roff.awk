# roff.awk - what the other scripts here share: text made safe for roff, and entries of two columns. Bytes, not characters: LC_ALL=C.

BEGIN {
	for (i = 1; i < 256; i++)
		byte_value[sprintf("%c", i)] = i
}

# What is not ASCII becomes \[uXXXX]: not every roff reads UTF-8.
function ascii(text,   out, i, c, code, more) {
	if (text !~ /[\200-\377]/)
		return text
	for (i = 1; i <= length(text); i++) {
		c = byte_value[substr(text, i, 1)]
		if (c < 128) {
			out = out substr(text, i, 1)
			continue
		}
		more = c < 224 ? 1 : c < 240 ? 2 : 3
		code = c - (c < 224 ? 192 : c < 240 ? 224 : 240)
		while (more-- > 0)
			code = code * 64 + byte_value[substr(text, ++i, 1)] - 128
		out = out sprintf("\\[u%04X]", code)
	}
	return out
}

# Nothing in it is markup; a minus is one, also where it joins two words.
function plain(text) {
	gsub(/\\/, "\\(rs", text)
	gsub(/-/, "\\-", text)
	gsub(/\^/, "\\(ha", text)
	gsub(/~/, "\\(ti", text)
	gsub(/'/, "\\(aq", text)
	return ascii(text)
}

# Prose: `code` in bold; lines that roff would take for requests are not.
function prose(text) {
	text = plain(text)
	while (match(text, /`[^`]*`/))
		text = substr(text, 1, RSTART - 1) "\\fB" substr(text, RSTART + 1, RLENGTH - 2) "\\fP" substr(text, RSTART + RLENGTH)
	return (text ~ /^\./ ? "\\&" : "") text
}

# A command line's form or an option: what is typed as it stands in bold, PLACEHOLDERS in italics.
function form(text,   out) {
	text = plain(text)
	while (match(text, /[A-Z][A-Z]+|[A-Z]$/)) {
		out = out bold(substr(text, 1, RSTART - 1)) "\\fI" substr(text, RSTART, RLENGTH) "\\fP"
		text = substr(text, RSTART + RLENGTH)
	}
	return out bold(text)
}

function bold(text,   n, words, i, out) {
	n = split(text, words, / /)
	for (i = 1; i <= n; i++)
		out = out (i > 1 ? " " : "") (words[i] ~ /^(\\-|[a-z])/ ? "\\fB" words[i] "\\fP" : words[i])
	return out
}

function entry(term, text) {
	print ".TP\n" term
	if (text != "")
		print text
}

function literal(lines, first, last, indent,   i) {
	print ".EX"
	for (i = first; i <= last; i++)
		print "\\&" plain(substr(lines[i], indent + 1))
	print ".EE"
}
