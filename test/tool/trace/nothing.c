/* SPDX-License-Identifier: MIT */
/* Linked statically: nothing can be preloaded into it. */
int main(void)
{
	return 0;
}
