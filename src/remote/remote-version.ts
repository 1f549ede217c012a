/** The version of the protocol between front ends and a kernel elsewhere: both sides must have the same. */
export const remoteVersion = 13;
