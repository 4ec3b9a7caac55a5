printf key >app.private-key.pem
mkdir bin && printf '#!/bin/sh\necho from-pass\n' >bin/pass && chmod +x bin/pass
echo 's3cret' >home
