#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Documentation against program and sources.
#
#	docs.sh BUILD_DIR
#
# Prints TAP and, last, how many passed, failed and were skipped. Exit status 1
# if any failed.
#
# Examples are the lines "# kfxt ..." and "$ kfxt ..." (and those that pipe into
# kfxt) in the literal displays of docs/man and in the fenced code of docs/production.md.
# They run in one directory per page, in order, and must exit 0; trace.fxt and ls.fxt are
# there already. A comment line before one says otherwise; in production.md, where only the
# first form is known, as <!-- docs.sh: not run: REASON -->:
#	.\" docs.sh: not run: REASON	the next command is not run
#	.\" docs.sh: exit N		the next command exits with N
#	.\" docs.sh: compile NAME.c	the display, up to its end, is a program
#					that compiles against libfxt and runs
set -euo pipefail
export LC_ALL=C.UTF-8

if [ $# -ne 1 ] || [ ! -x "$1/kfxt" ]; then
	echo "usage: docs.sh BUILD_DIR (with kfxt in it)" >&2
	exit 2
fi
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
top=$PWD
export PATH="$build:$PATH"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# The examples are of a machine that has it, as most do.
[ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing

number=0 passed=0 failed=0 skipped=0

# result NAME TEXT: passes if TEXT, what is wrong, is empty.
result() {
	number=$((number + 1))
	if [ -z "$2" ]; then
		passed=$((passed + 1))
		echo "ok $number - $1"
	else
		failed=$((failed + 1))
		echo "not ok $number - $1"
		echo "# ${2//$'\n'/$'\n'# }"
	fi
}

skip() {
	number=$((number + 1))
	skipped=$((skipped + 1))
	echo "ok $number - $1 # SKIP $2"
}

# The project's files, text or not, without what is built.
files() {
	if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
		git ls-files -co --exclude-standard
	else
		find . -type f -not -path './build*' -not -path './.git/*' -not -name '*.fxt' -printf '%P\n'
	fi | sort | while read -r file; do
		[ ! -f "$file" ] || echo "$file"
	done
}

commands() {
	kfxt --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
}

# ---- pages and help -----------------------------------------------------------

check_lint() {
	local page
	if ! command -v mandoc >/dev/null; then
		skip "mandoc has nothing to say" "no mandoc"
		return
	fi
	for page in docs/man/*.[1-9]; do
		result "mandoc has nothing to say about ${page##*/}" "$(mandoc -T lint -W warning "$page" 2>&1)"
	done
}

# render PROGRAM PAGE: as text, without bold.
render() {
	case $1 in
	mandoc) mandoc -T utf8 "$2" | sed 's/.\x08//g' ;;
	groff) groff -mandoc -T utf8 -P-cbou "$2" ;;
	esac
}

# Quotation marks of a paragraph that do not belong together. A closing one after a letter may be an apostrophe.
# shellcheck disable=SC1112 # these are meant
stray_quotes() {
	awk -v RS= '{
		rest = $0
		opened = ""
		while (match(rest, /‘|’|“|”/)) {
			before = substr(rest, 1, RSTART - 1)
			mark = substr(rest, RSTART, RLENGTH)
			rest = substr(rest, RSTART + RLENGTH)
			if (mark == "‘" || mark == "“") {
				if (opened)
					print "quote in a quote: " opened before mark substr(rest, 1, 60)
				opened = mark
			} else if (opened == (mark == "’" ? "‘" : "“")) {
				opened = ""
			} else if (mark == "”" || before !~ /[[:alpha:]]$/) {
				print "nothing is open: " before mark
			}
		}
		if (opened)
			print "never closed: " opened substr(rest, 1, 60)
	}'
}

# shellcheck disable=SC1112
check_quotes() {
	local page program
	result "quotes that do not belong together are found" "$(
		for page in 'a ‘b ‘c’’ d' 'a ‘b' 'a “b’ c' 'a) ’ b' 'a “b ‘c’”'; do
			[ -n "$(stray_quotes <<<"$page")" ] || echo "not in: $page"
		done
		stray_quotes <<<'a‘b’, don’t (“c” ‘d’)')"
	for program in mandoc groff; do
		if ! command -v "$program" >/dev/null; then
			skip "quotes as $program renders them" "no $program"
			continue
		fi
		for page in docs/man/*.[1-9]; do
			result "quotes of ${page##*/} as $program renders them" "$(
				render "$program" "$page" >"$tmp/rendered" 2>&1 || echo "$program: exit status $?"
				[ "$(wc -l <"$tmp/rendered")" -gt 30 ] || cat "$tmp/rendered"
				stray_quotes <"$tmp/rendered")"
		done
	done
}

# "-o --output" for each option of a command's help, and of its page.
help_options() {
	{
		kfxt "$1" --help | sed -nE -e 's/^  (-.), (--[a-z-]+).*/\1 \2/p' -e 's/^      (--[a-z-]+).*/\1/p'
		kfxt "$1" --help | sed -n '/^Also, in/,/^$/p' | grep -oE -- '--[a-z-]+' || true
	} | sort
}

page_options() {
	sed -nE -e 's/^\.It Fl (.) , Fl -([a-z-]+).*/-\1 --\2/p' -e 's/^\.It Fl -([a-z-]+).*/--\1/p' "$1" | sort
}

# Options a page speaks of without having them.
stray_options() {
	local name
	grep -oE 'Fl -[a-z][a-z-]+' "$1" | sed 's/Fl -/--/' | sort -u | while read -r name; do
		help_options "$2" | grep -qE -- "(^| )$name\$" || echo "the page speaks of $name, the help does not"
	done
}

check_options() {
	local command page
	for command in $(commands); do
		page=docs/man/kfxt-$command.1
		[ -f "$page" ] || continue
		result "options of kfxt $command are those of its page" "$(
			diff -U0 --label help --label page <(help_options "$command") <(page_options "$page") || true
			stray_options "$page" "$command")"
	done
}

check_commands() {
	local pages
	pages=$(cd docs/man && printf '%s\n' kfxt-*.1 | sed -e 's/^kfxt-//' -e 's/\.1$//' | sort)
	result "every command has a page and every page a command" "$(
		diff -U0 --label help --label pages <(commands | sort) <(echo "$pages") || true
		for command in $(commands); do
			grep -q "^\.It Cm $command" docs/man/kfxt.1 || echo "kfxt.1 does not list $command"
		done)"
}

check_help_size() {
	local command text
	for command in "" $(commands); do
		# shellcheck disable=SC2086 # without a command it is kfxt --help
		text=$(kfxt $command --help)
		result "kfxt ${command:+$command }--help fits a screen" "$(
			awk 'length > 80 { print "line " NR " has " length " columns" }
				END { if (NR > 36) print NR " lines" }' <<<"$text")"
	done
}

# What programs print by name must be explained.
check_names() {
	local name
	# With nothing to go through the lists below would be empty and the tests vain.
	result "kinds of problems and records are found" "$(
		grep -q '^	\[VERIFY_DAMAGE\].*"damage",$' user/analysis/findings.c || echo "not in user/analysis/findings.c"
		grep -q '^	\[FXT_KIND_MAGIC\] = "magic",$' user/fxt/value.c || echo "not in user/fxt/value.c")"
	result "every kind of problem is in kfxt-verify.1" "$(
		sed -nE 's/^\t\[VERIFY_.*= \{ "([a-z_]+)",$/\1/p' user/analysis/findings.c | while read -r name; do
			grep -qs "^\.It $name\$" docs/man/kfxt-verify.1 || echo "$name is missing"
		done)"
	result "every kind of record is in kfxt-dump.1" "$(
		sed -nE 's/^\t\[FXT_KIND_.*= "([a-z_]+)",$/\1/p' user/fxt/value.c | while read -r name; do
			grep -qsE "^\.Ql $name( |\$)" docs/man/kfxt-dump.1 || echo "$name is missing"
		done)"
	result "each of kfxt list --presets has its item in kfxt-record.1" "$(
		kfxt list --presets --json | sed -nE 's/^  \{"name": "([a-z-]+)", .*/\1/p' >"$tmp/words"
		grep -qx irq "$tmp/words" || echo "kfxt list --presets --json does not list irq"
		while read -r name; do
			grep -qE "^\.It (Cm |Fl -)$name( |\$)" docs/man/kfxt-record.1 || echo "$name is missing"
		done <"$tmp/words")"
	result "keys of JSON are found in sources and pages" "$(tests/json_keys.py --self-test || true)"
	result "every key of JSON is in a manual page of its command" "$(tests/json_keys.py || true)"
}

# ---- sources --------------------------------------------------------------------

# A paragraph of prototypes needs a comment in it, at or above the first one; or
# a comment earlier in its part of the header that says it is about what is "below".
check_prototypes() {
	result "every prototype of fxt.h has a comment" "$(awk '
		/\/\* ----/ { below = 0 }
		/^$/ { comment = 0 }
		/\/\*/ || /^ \*/ { comment = 1; if (/below/) below = 1 }
		/^[a-z].*[ *]fxt_[a-z0-9_]+\(/ && !/^typedef/ {
			prototypes++
			if (!comment && !below)
				print "line " NR ": " $0
		}
		END { if (!prototypes) print "no prototype found" }
	' user/fxt/fxt.h)"
}

# Below @1, "" for itself.
folders_of_code() {
	files | sed -nE "s,^$1/((.*)/)?[^/]*\\.[ch]\$,\\2,p" | sort -u
}

check_sources() {
	local todo abs file folder lines
	# In pieces, so that neither finds itself.
	todo='(\b(TO''DO|FIX''ME)|(^|[^<])\bXX''X)\b'
	abs='(^|[^A-Za-z0-9_./$}-])/(wo''rk|ho''me|ro''ot)/'
	result "nothing is left to be done" "$(files | grep -E '\.([ch]|sh|py|proto|in)$|(^|/)(Makefile|Kbuild)$' |
		tr '\n' '\0' | xargs -0 grep -nEI "$todo" || true)"
	result "no path of one machine" "$(files | tr '\n' '\0' | xargs -0 grep -nEI "$abs" || true)"
	result "every source has its licence in the first three lines" "$(
		files | grep -E '\.([ch]|sh|py)$|(^|/)Makefile$' | while read -r file; do
			head -n 3 "$file" | grep -q 'SPDX-License-Identifier: ' || echo "$file"
		done)"
	result "no .c file has more than 700 lines" "$(
		files | grep -E '\.c$' | tr '\n' '\0' | xargs -0 wc -l | awk '$2 != "total" && $1 > 700')"
	result "no header has more than 200 lines" "$(
		files | grep -E '^(user|bpf|kmod)/.*\.h$' | grep -vE '/(fxt|format|fields)\.h$' | tr '\n' '\0' | xargs -0 wc -l |
			awk '$2 != "total" && $1 > 200')"
	result "no folder of user/ and bpf/ has more than 40 files" "$(
		files | grep -E '^(user|bpf)/' | xargs -n1 dirname | sort | uniq -c | awk '$1 > 40')"
	result "each folder of user/ and bpf/ says in at most 15 lines what it is for" "$(
		files | grep -E '^(user|bpf)/.*\.[ch]$' | xargs -n1 dirname | sort -u | while read -r folder; do
			lines=$(wc -l <"$folder/README.md")
			[ "$lines" -gt 0 ] && [ "$lines" -le 15 ] || echo "$folder/README.md: $lines lines"
		done 2>&1)"
	result "tests/unit has the folders that user/ has" "$(
		diff <(folders_of_code user) <(folders_of_code tests/unit | grep -v '^$') || true)"
	# libfxt is a library of its own, without base.
	result "what grows below user/, but in libfxt, grows by array_reserve()" "$(
		files | grep -E '^user/.*\.[ch]$' | grep -vE '^user/(base/array\.c$|fxt/)' |
			xargs grep -nE '\brealloc(array)?\(' || true)"
}

check_modes() {
	result "what begins with #! can be run" "$(files | while read -r file; do
		[ -x "$file" ] || [ "$(head -c 2 "$file" | tr -d '\0')" != '#!' ] || echo "$file: chmod +x"
	done)"
}

# ---- links ------------------------------------------------------------------------

# The vm suite compares kernels with the table, this one the page.
check_kernels() {
	result "the table of docs/kernels.md is what tests/vm/matrix.py prints" "$(
		diff <(sed -n '/^<!-- matrix -->$/,/^<!-- \/matrix -->$/p' docs/kernels.md | sed '1d;$d') \
			<(python3 tests/vm/matrix.py --print) || true)"
}

check_links() {
	local page links link
	for page in README.md CONTRIBUTING.md docs/*.md; do
		if [ ! -f "$page" ]; then
			[ "$page" = 'docs/*.md' ] || skip "links of $page exist" "there is no $page"
			continue
		fi
		links=$(grep -oE '\]\([^)# ]+' "$page" | sed 's/^](//' | grep -vE '^[a-z]+:' | sort -u || true)
		result "links of $page exist" "$(for link in $links; do
			[ -e "$(dirname "$page")/$link" ] || echo "$link"
		done)"
	done
}

# ---- words ------------------------------------------------------------------------

# What tests/words.py reads, by FOLDER: FILE...
plain_files() {
	files | grep -E '\.(md|[ch]|[135]|py|sh)$' | grep -v '^tests/corpus/' || true
}

check_words() {
	local folder
	result "retired words are found" "$(tests/words.py --self-test || true)"
	for folder in $(plain_files | xargs -n1 dirname | sort -u); do
		result "no retired word in $folder" "$(plain_files | awk -v folder="$folder" '
			{ of = $0; if (!sub("/[^/]*$", "", of)) of = "." } of == folder' | xargs tests/words.py || true)"
	done
}

# ---- examples -----------------------------------------------------------------------

# run_example DIR COMMAND STATUS
run_example() {
	local dir=$1 line=$2 wanted=$3 code=0 rest=$2 tool
	while [[ $rest =~ ' | '([a-z]+)(.*) ]]; do
		tool=${BASH_REMATCH[1]} rest=${BASH_REMATCH[2]}
		if ! command -v "$tool" >/dev/null; then
			skip "$line" "no $tool"
			return
		fi
	done
	# shellcheck disable=SC2016 # for the inner shell
	# Of a pipeline each command counts; one whose reader (head) has seen enough ends by SIGPIPE.
	(cd "$dir" && timeout 60 bash -c "$line"$'\n''for code in "${PIPESTATUS[@]}"; do
		[ "$code" -eq 0 ] || [ "$code" -eq 141 ] || exit "$code"; done') >"$tmp/out" 2>&1 </dev/null || code=$?
	result "$line" "$([ "$code" -eq "$wanted" ] || { echo "exit status $code, not $wanted" && tail -n 5 "$tmp/out"; })"
}

# run_program DIR NAME.c: compiles it and runs it; its trace, if any, must be clean.
run_program() {
	local code=0
	(cd "$1" && "${CC:-cc}" -Wall -Wextra -Werror -I"$top/user/fxt" -o "${2%.c}" "$2" "$build/libfxt.a" &&
		"./${2%.c}" && kfxt verify example.fxt) >"$tmp/out" 2>&1 || code=$?
	result "the program $2 compiles and runs" "$([ "$code" -eq 0 ] || cat "$tmp/out")"
}

run_page() {
	local page=$1 dir=$2 line literal='' why='' wanted=0 program=''
	while IFS= read -r line; do
		case $line in
		'.Bd -literal'*) literal=1 ;;
		'```'*) literal=$([ -n "$literal" ] || echo 1) ;;
		'<!-- docs.sh: not run: '*) why=${line#*not run: } && why=${why% -->} ;;
		'.Ed')
			literal=''
			[ -z "$program" ] || run_program "$dir" "$program"
			program='' ;;
		'.\" docs.sh: not run: '*) why=${line#*not run: } ;;
		'.\" docs.sh: exit '*) wanted=${line##* } ;;
		'.\" docs.sh: compile '*) program=${line##* } && : >"$dir/$program" ;;
		*)
			[ -n "$literal" ] || continue
			line=${line//'\e'/\\}
			if [ -n "$program" ]; then
				printf '%s\n' "$line" >>"$dir/$program"
			elif [[ $line =~ ^[#$]' '(.*' | ')?kfxt' ' ]]; then
				line=${line:2}	# the prompt, which TAP would take for a comment
				if [ -n "$why" ]; then
					echo "# not run: $line: $why"
				else
					run_example "$dir" "$line" "$wanted"
				fi
				why='' wanted=0
			fi ;;
		esac
	done <"$page"
}

# Without those of kernel functions, for which some kernels have no mechanism.
check_help_of_list() {
	local line
	while IFS= read -r line; do
		run_example "$tmp" "$line" 0
	done < <(kfxt list --help | sed -nE '/^Examples:/,$s/^  (kfxt .*[^ ]) +# .*/\1/p' | grep -v -- ' -f ')
}

check_examples() {
	local page dir
	if ! kfxt check >/dev/null; then
		skip "examples of the pages" "kfxt cannot record here"
		return
	fi
	(cd "$tmp" && kfxt record -q -o ls.fxt -- sh -c 'ls -R /usr/share | gzip >/dev/null' && cp ls.fxt trace.fxt)
	for page in docs/man/*.[1-9] docs/production.md; do
		dir=$tmp/${page##*/}
		mkdir "$dir"
		cp "$tmp/trace.fxt" "$tmp/ls.fxt" "$dir"
		run_page "$page" "$dir"
	done
}

check_lint
check_quotes
check_options
check_commands
check_help_size
check_names
check_prototypes
check_sources
check_kernels
check_modes
check_links
check_words
check_help_of_list
check_examples
echo "1..$number"
echo "docs: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
