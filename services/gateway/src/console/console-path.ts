/** All paths of the console begin so. */
export const CONSOLE_PATH = "/console/";
