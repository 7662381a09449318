# markdown.awk - sets the section SECTION of README.md for man: paragraphs, subsections, bullets, code, and tables of two columns.

/^## / { flush(); wanted = $0 == "## " SECTION; next }
!wanted { next }
/^```/ { flush(); print (code ? ".EE" : ".PP\n.EX"); code = !code; next }
code { print "\\&" plain($0); next }
/^$/ { flush(); table = 0; next }
/^### / { print ".SS " inline(substr($0, 5)); next }
/^\|/ {
	split($0, cells, / *\| */)
	if (++table > 2) # after the heads and the rule below them
		entry(inline(cells[2]), inline(cells[3]))
	next
}
/^- / { flush(); start = ".IP \\(bu 2"; $0 = substr($0, 3) }
{
	sub(/^ +/, "")
	text = text (text == "" ? "" : " ") $0
}
END { flush() }

# The paragraph so far.
function flush() {
	if (text != "")
		print (start == "" ? ".PP" : start) "\n" inline(text)
	text = start = ""
}

# Of a link its text; *letters* in italics.
function inline(text) {
	while (match(text, /\[[^]]*\]\([^)]*\)/))
		text = substr(text, 1, RSTART - 1) link_text(substr(text, RSTART + 1, RLENGTH - 2)) substr(text, RSTART + RLENGTH)
	text = prose(text)
	while (match(text, /\*[a-z]+\*/))
		text = substr(text, 1, RSTART - 1) "\\fI" substr(text, RSTART + 1, RLENGTH - 2) "\\fP" substr(text, RSTART + RLENGTH)
	return text
}

function link_text(link) {
	return substr(link, 1, index(link, "]") - 1)
}
