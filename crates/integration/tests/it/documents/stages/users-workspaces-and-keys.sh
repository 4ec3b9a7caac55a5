for host in https://hooks.example.com https://staging.example.com; do echo "$host = $HEADWATER_URL"; done
cp examples/http-orders.mjs orders.mjs
rm -r headwater-data
: >node.log
env -u HEADWATER_API_KEY headwater serve --listen 127.0.0.1:0 --data-dir headwater-data 2>node.log &
until grep -q 'is ready on' node.log; do kill -0 $!; done
kill $! && wait $!
