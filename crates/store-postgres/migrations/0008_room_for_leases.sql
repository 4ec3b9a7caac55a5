-- Leases are columns of no index: a row that is leased stays in its page, and in its places of the indexes, if the page has
-- room for its new version. Without that room, a lease writes into all indexes, and leaves as many dead entries.
ALTER TABLE invocations SET (fillfactor = 50);
ALTER TABLE deliveries SET (fillfactor = 50);
