openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out internal-ca.pem \
  -days 1 -subj /CN=internal
