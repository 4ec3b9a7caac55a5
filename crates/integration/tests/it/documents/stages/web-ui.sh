mkdir bin && printf '#!/bin/sh\n' >bin/xdg-open && chmod +x bin/xdg-open
headwater deploy examples/http-orders.mjs
