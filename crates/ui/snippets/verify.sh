# SECRET; ID, TIMESTAMP and SIGNATURE from the headers; the body as it came in the file body.
age=$(($(date +%s) - TIMESTAMP))
[ "${age#-}" -le 300 ] || { echo "too old"; exit 1; }
key=$(printf %s "${SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
expected=$({ printf '%s.%s.' "$ID" "$TIMESTAMP"; cat body; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
case " $SIGNATURE " in
  *" v1,$expected "*) echo "good" ;;
  *) echo "not signed with this secret"; exit 1 ;;
esac
