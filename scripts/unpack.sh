# Sourced by scripts that unpack or build packages of the distribution below .build, in the root of
# the checkout. Needs: place, the folder to make; what, a description of it for the tests.
#
# Packages are unpacked rather than installed: installed, they would start services. Only missing
# libraries and compilers are installed. Where the folder cannot be made, $place.missing says why and
# the tests skip for that reason; with CI set, that is an error wherever there is apt.

mkdir -p .build
rm -rf "$place" "$place".*

have() { command -v "$1" >/dev/null 2>&1; }

reason="$0 failed"
mandatory=${CI:-}
work=$(mktemp -d "$place.XXXXXX")
finish() {
  status=$?
  rm -rf "$work"
  [ "$status" -ne 0 ] || return 0
  echo "$reason" >"$place.missing"
  echo "No tests $what: $reason" >&2
  [ -n "$mandatory" ] || exit 0
}
trap finish EXIT

unavailable() {
  reason=$1
  exit 1
}

have apt-get || {
  mandatory=
  unavailable "no Debian or Ubuntu"
}

# Lists of our own, so that neither root nor a change of the machine's sources is needed.
cat /etc/apt/sources.list >"$work/sources.list" 2>/dev/null || :
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/packages"
APT_CONFIG=$work/apt.conf
export APT_CONFIG
cat >"$APT_CONFIG" <<EOF
Dir::Etc::sourcelist "$work/sources.list";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
Acquire::Languages "none";
APT::Sandbox::User "root";
EOF
apt-get update -qq

known() { [ "$(apt-cache show --no-all-versions "$@" 2>/dev/null | grep -c '^Package: ')" -eq $# ]; }

# Prints the libraries that a package file depends on.
libraries_of() {
  dpkg-deb -f "$1" Depends | tr ',' '\n' | sed -n 's/^ *\(lib[^ :(|]*\|tzdata\).*/\1/p'
}

# Installs those of the named packages that are missing.
install_missing() {
  packages=
  for package in "$@"; do
    case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
      installed) ;;
      *) packages="$packages $package" ;;
    esac
  done
  [ -n "$packages" ] || return 0
  as_root=
  if [ "$(id -u)" -ne 0 ]; then
    have sudo || unavailable "root has to run first: apt-get install$packages"
    as_root=sudo
  fi
  DEBIAN_FRONTEND=noninteractive $as_root env -u APT_CONFIG apt-get update -qq
  # shellcheck disable=SC2086 # several words on purpose
  DEBIAN_FRONTEND=noninteractive $as_root env -u APT_CONFIG apt-get install -y -qq \
    --no-install-recommends $packages >&2
}

# Fetches the source of a package of the release after Debian 12 into $work, from the mirror of this
# machine; apt checks the signature of the list and the sums of the files.
fetch_source() {
  mirror=$(apt-get indextargets --format '$(REPO_URI)' "Origin: Debian" "Codename: bookworm" | head -1)
  [ -n "$mirror" ] || unavailable "no source to build $1 from"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" \
    >>"$work/sources.list"
  apt-get update -qq
  (
    cd "$work"
    apt-get source -qq --download-only "$1" >/dev/null
    tar -xzf "$1"_*.orig.tar.gz
  )
}
