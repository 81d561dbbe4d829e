// SPDX-License-Identifier: MIT
// A loaded object as the dynamic linker shows it to an auditor: read only, and
// before the object is relocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <link.h>

namespace qpattr::audit {

class object_view {
public:
	explicit object_view(const link_map *map) noexcept : base_{map->l_addr}, dynamic_{map->l_ld}
	{
		for (const ElfW(Dyn) *entry = dynamic_; entry && entry->d_tag != DT_NULL; ++entry)
			switch (entry->d_tag) {
			case DT_STRTAB:
				strings_ = at<const char>(entry->d_un.d_ptr);
				break;
			case DT_SYMTAB:
				symbols_ = at<const ElfW(Sym)>(entry->d_un.d_ptr);
				break;
			case DT_GNU_HASH:
				gnu_hash_ = at<const std::uint32_t>(entry->d_un.d_ptr);
				break;
			case DT_SONAME:
				soname_ = entry->d_un.d_val;
				break;
			default:
				break;
			}
	}

	// "" where it has none.
	[[nodiscard]] const char *soname() const noexcept
	{
		return strings_ && soname_ ? strings_ + soname_ : "";
	}

	// Whether it was linked with a library whose name begins so.
	[[nodiscard]] bool needs(const char *prefix) const noexcept
	{
		for (const ElfW(Dyn) *entry = dynamic_; entry && entry->d_tag != DT_NULL; ++entry)
			if (entry->d_tag == DT_NEEDED && strings_ &&
			    std::strncmp(strings_ + entry->d_un.d_val, prefix,
					 std::strlen(prefix)) == 0)
				return true;
		return false;
	}

	// Where the function of this name is that the object defines; 0 if none.
	[[nodiscard]] std::uintptr_t function(const char *name) const noexcept
	{
		if (!symbols_ || !strings_ || !gnu_hash_)
			return 0;
		// The table: counts, a filter that is passed over, the first symbol of
		// each bucket, and of each symbol its hash, with bit 0 at a bucket's end.
		const std::uint32_t buckets = gnu_hash_[0], first = gnu_hash_[1];
		const std::uint32_t filter = gnu_hash_[2];
		constexpr std::size_t head = 4;
		const std::uint32_t *const bucket =
			gnu_hash_ + head + filter * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
		const std::uint32_t *const hashes = bucket + buckets;
		const std::uint32_t wanted = hash(name);
		if (buckets == 0)
			return 0;
		for (std::uint32_t i = bucket[wanted % buckets]; i >= first && i != 0; ++i) {
			const std::uint32_t found = hashes[i - first];
			const ElfW(Sym) &symbol = symbols_[i];
			if ((found | 1) == (wanted | 1) &&
			    std::strcmp(strings_ + symbol.st_name, name) == 0 &&
			    ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
			    symbol.st_shndx != SHN_UNDEF)
				return base_ + symbol.st_value;
			if (found & 1)
				break;
		}
		return 0;
	}

private:
	static std::uint32_t hash(const char *name) noexcept
	{
		std::uint32_t value = 5381;
		for (; *name; ++name)
			value = value * 33 + static_cast<unsigned char>(*name);
		return value;
	}

	// glibc adds the base to these pointers in place; other linkers, and glibc
	// where it cannot write there, leave them as offsets.
	template <class T> [[nodiscard]] T *at(ElfW(Addr) where) const noexcept
	{
		return reinterpret_cast<T *>(where < base_ ? base_ + where : where);
	}

	ElfW(Addr) base_;
	const ElfW(Dyn) *dynamic_;
	const char *strings_ = nullptr;
	const ElfW(Sym) *symbols_ = nullptr;
	const std::uint32_t *gnu_hash_ = nullptr;
	std::size_t soname_ = 0;
};

} // namespace qpattr::audit
