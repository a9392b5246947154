# Prints the deploy scripts of a slice of sqitch.plan, in plan order, one path a line.
#
#   awk -f sql/bundle.awk sqitch.plan                                    everything
#   awk -v to=@v0.1.0 -f sql/bundle.awk sqitch.plan                      a release
#   awk -v from=@v0.1.0 -v to=@v0.2.0 -f sql/bundle.awk sqitch.plan      an upgrade
#
# An instance of a change that was reworked later is the frozen one under sql/reworked.

/^[%#]/ || NF == 0 { next }

/^@/ {
  for (i in open) tag[i] = $1
  delete open
  at[$1] = n
  next
}

{
  name[++n] = $1
  last[$1] = n
  open[n]
}

END {
  for (i = (from ? at[from] : 0) + 1; i <= (to ? at[to] : n); i++) {
    if (i == last[name[i]]) print "deploy/" name[i] ".sql"
    else print "sql/reworked/deploy/" name[i] tag[i] ".sql"
  }
}
