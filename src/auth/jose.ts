/** What we use of jose, so that a bundle holds no more of it. */
export { createLocalJWKSet, decodeProtectedHeader, errors, jwtVerify } from "jose";
