// To log accounts in and out.

export { type Product, products } from "./accounts/products.ts";
export { TokenStore } from "./accounts/token-store.ts";
export { LoginError, logIn } from "./login/log-in.ts";
export { logOut } from "./login/log-out.ts";
export { type OpenOAuth, openOAuth } from "./open-oauth.ts";

// To run the service.

export { configSchema } from "./generated/config.ts";
export { startGoogleTools } from "./google-tools.ts";
