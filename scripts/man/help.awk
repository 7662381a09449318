# help.awk - sets a help text of `mprof` for man: paragraphs, its usage, and what is indented: lists of two columns, or lines as they are.

{ lines[NR] = $0 }
END {
	for (first = 1; first <= NR; first = last + 1) {
		last = end_of_run(first)
		if (lines[first] ~ /^usage: /)
			usage(first, last)
		else if (lines[first] ~ /^[^ ]/)
			paragraph(first, last)
		else if (lines[first] != "")
			indented(first, last)
	}
}

function indent(line) {
	match(line, /^ */)
	return RLENGTH
}

# The last of the lines that are of one kind with the first: empty, indented, or not; a usage may have several.
function end_of_run(i,   kind) {
	kind = kind_of(lines[i])
	for (; i < NR && (kind_of(lines[i + 1]) == kind || kind == "usage" && lines[i + 1] != ""); i++)
		;
	return i
}

function kind_of(line) {
	return line == "" ? "empty" : line ~ /^usage: / ? "usage" : line ~ /^ / ? "indented" : "text"
}

function usage(first, last,   i) {
	print ".PP\n.nf"
	for (i = first; i <= last; i++)
		print form(substr(lines[i], 8))
	print ".fi"
}

function paragraph(first, last,   i) {
	print ".PP"
	for (i = first; i <= last; i++)
		print prose(lines[i])
}

# Where the second column of a line begins, or 0; two gaps are no list, except among options, whose texts may have any.
function text_column(line, base,   column, rest) {
	rest = substr(line, base + 1)
	if (!match(rest, /[^ ]   */))
		return 0
	column = base + RSTART + RLENGTH - 1
	return line !~ /^ *-/ && substr(line, column + 1) ~ /[^ ]   *[^ ]/ ? -1 : column
}

function is_list(first, last, base,   i, column, texts) {
	for (i = first; i <= last; i++) {
		if (indent(lines[i]) != base)
			continue
		column = text_column(lines[i], base)
		if (column < 0)
			return 0
		texts += column > 0 || i < last && indent(lines[i + 1]) > base
	}
	return texts > 0
}

function indented(first, last,   base, i, column, deeper) {
	base = indent(lines[first])
	for (i = first; i <= last; i++)
		base = indent(lines[i]) < base ? indent(lines[i]) : base
	if (!is_list(first, last, base)) {
		print ".PP"
		literal(lines, first, last, base)
		return
	}
	for (i = first; i <= last; i++) {
		if (indent(lines[i]) == base) {
			end_command()
			column = text_column(lines[i], base)
			term(lines[i], base, column, column > 0 || i < last && indent(lines[i + 1]) > base)
		} else if (column == 0 || indent(lines[i]) <= column) {
			column = column == 0 ? indent(lines[i]) : column
			print prose(substr(lines[i], indent(lines[i]) + 1))
		} else {
			for (deeper = i; i < last && indent(lines[i + 1]) > column; i++)
				;
			literal(lines, deeper, i, column)
		}
	}
	end_command()
}

function end_command() {
	if (in_command)
		print ".RE"
	in_command = 0
}

# An option is a form; all else before the gap is to be typed, or read, as it is. A command may be longer than a line,
# and may have no text.
function term(line, base, column, has_text,   left, right) {
	left = column > 0 ? substr(line, base + 1, column - base) : substr(line, base + 1)
	right = column > 0 ? prose(substr(line, column + 1)) : ""
	sub(/ +$/, "", left)
	if (left ~ /^-/)
		entry(form(left), right)
	else if (left !~ / /)
		entry("\\fB" plain(left) "\\fP", right)
	else {
		in_command = has_text
		print ".PP\n.nf\n\\fB" plain(left) "\\fP\n.fi" (has_text ? "\n.RS" : "") (right == "" ? "" : "\n" right)
	}
}
