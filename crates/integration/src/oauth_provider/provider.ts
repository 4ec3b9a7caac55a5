/**
 * A real OAuth 2 provider with PKCE required, rotation of refresh tokens, revocation and a page for consent; and
 * below `/test/` what a test sets and reads. Judges nothing.
 */

import { createServer } from "node:http";
import process from "node:process";
import { Provider } from "npm:oidc-provider@9.13.3";

const [redirectUri, clientId, clientSecret] = process.argv.slice(2);

const settings = { accessTtl: 3600, broken: false };
const seen = {
  grants: [] as string[],
  failures: [] as string[],
  access: [] as string[],
  refresh: [] as string[],
  revoked: 0,
};

const server = createServer((request, response) => handle(request, response));
// deno-lint-ignore no-explicit-any
let handle: any;

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "client_secret_basic",
    }],
    features: { revocation: { enabled: true }, introspection: { enabled: true } },
    pkce: { required: () => true },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    ttl: { AccessToken: () => settings.accessTtl },
    cookies: { keys: ["of the tests"] },
  });
  // deno-lint-ignore no-explicit-any
  provider.on("grant.success", (ctx: any) => seen.grants.push(ctx.oidc.params.grant_type));
  // deno-lint-ignore no-explicit-any
  provider.on("grant.error", (_: any, error: Error) => seen.failures.push(error.message));
  // deno-lint-ignore no-explicit-any
  provider.on("access_token.saved", (token: any) => seen.access.push(token.jti));
  // deno-lint-ignore no-explicit-any
  provider.on("refresh_token.saved", (token: any) => seen.refresh.push(token.jti));

  // deno-lint-ignore no-explicit-any
  provider.use(async (ctx: any, next: () => Promise<void>) => {
    if (ctx.path === "/token" && settings.broken) {
      ctx.status = 503;
      ctx.body = "";
      return;
    }
    if (!ctx.path.startsWith("/test/")) {
      await next();
      if (ctx.path === "/token/revocation" && ctx.status === 200) seen.revoked += 1;
      return;
    }
    switch (ctx.path) {
      case "/test/set":
        for (const [name, value] of Object.entries(ctx.query)) {
          if (!(name in settings)) throw new Error(`there is no setting ${name}`);
          Object.assign(settings, { [name]: JSON.parse(value as string) });
        }
        break;
      case "/test/end_access":
        for (const id of seen.access) await (await provider.AccessToken.find(id))?.destroy();
        break;
      case "/test/end_refresh":
        for (const id of seen.refresh) {
          await (await provider.RefreshToken.find(id))?.destroy();
        }
        break;
    }
    const alive = { access: [] as string[], refresh: [] as string[] };
    for (const id of seen.access) {
      if (await provider.AccessToken.find(id)) alive.access.push(id);
    }
    for (const id of seen.refresh) {
      const token = await provider.RefreshToken.find(id);
      if (token && !token.consumed) alive.refresh.push(id);
    }
    ctx.body = { ...seen, alive };
  });
  handle = provider.callback();
  console.log(`provider is ready on ${issuer}`);
});
