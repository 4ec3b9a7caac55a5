headwater run news >ran.txt
echo 'event: news'
