require "base64"
require "openssl"

# headers: names in lower case; body: the text as it came.
def verify(secret, headers, body)
  id, timestamp = headers.values_at("webhook-id", "webhook-timestamp")
  return false if (Time.now.to_i - timestamp.to_i).abs > 300
  key = Base64.decode64(secret.delete_prefix("whsec_"))
  expected = "v1," + Base64.strict_encode64(OpenSSL::HMAC.digest("SHA256", key, "#{id}.#{timestamp}.#{body}"))
  headers["webhook-signature"].split(" ").any? { |given| OpenSSL.secure_compare(given, expected) }
end
