# The store of a node that has served, and ended.
coproc node { exec headwater serve --data-dir headwater-data --listen 127.0.0.1:0 2>&1; }
while read -r line <&"${node[0]}"; do
  case "$line" in *"is ready on"*) break ;; esac
done
kill -INT "$node_PID"
cat <&"${node[0]}" >/dev/null
