// The things that were opened last in this browser, newest first, for the palette: their names and addresses, until
// somebody signs out.
{
  const STORED = "headwater-recent";
  const KEPT = 6;
  const THING = /^\/(sources|workflows|webhooks|accounts|data)\/(?!new$|selected$|connects$)[^/]+/;

  // Where nothing may be stored, nothing is remembered.
  const read = () => {
    try {
      return JSON.parse(localStorage.getItem(STORED)) ?? [];
    } catch {
      return [];
    }
  };

  const write = (all) => {
    try {
      localStorage.setItem(STORED, JSON.stringify(all));
    } catch {}
  };

  hw.recent = () => read().filter(({ address }) => address !== location.pathname);

  const [address, kinds] = THING.exec(location.pathname) ?? [];
  const name = document.querySelector("main h1")?.textContent.trim();
  if (!document.querySelector(".sidebar")) write([]);
  else if (address === location.pathname && name && !document.querySelector(".problem")) {
    const kind = kinds === "data" ? "data store" : kinds.slice(0, -1);
    write([{ name, kind, address }, ...read().filter((one) => one.address !== address)].slice(0, KEPT));
  }
}
