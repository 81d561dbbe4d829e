/* SPDX-License-Identifier: MIT */
#include "consumers_cm.h"

#include <qpattr/cm.h>

int main(void)
{
	return look();
}
