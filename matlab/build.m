function build(varargin)
%BUILD  Build the MEX file, in MATLAB or in Octave, into this folder.
%   build() makes wiregauge_mex from src/ and wiregauge's C library, which it takes from ../target/release, where cargo builds it if it
%   is not there.
%   build('Library', 'FILE.a', 'Include', 'DIR') takes another library and the folder of its wiregauge.h.
%
%   It needs a C compiler (in MATLAB: mex -setup C; in Octave on Debian: octave-dev), and cargo if there is no library yet. On Windows
%   the library is wiregauge_capi.lib for Microsoft's compiler, and libwiregauge_capi.a for MinGW, which Octave has and MATLAB offers as
%   an add-on: docs/matlab.md.

here = fileparts(mfilename('fullpath'));
addpath(here);
options = wiregauge.internal.pairs(varargin, struct('Library', '', 'Include', fullfile(here, '..', 'crates', 'capi', 'include')));
library = options.Library;
if isempty(library)
    name = 'libwiregauge_capi.a';
    if ispc() && ~by_gcc()
        name = 'wiregauge_capi.lib';
    end
    library = fullfile(here, '..', 'target', 'release', name);
    if ~isfile(library)
        fprintf('building the library (one to three minutes)\n');
        status = system(['cargo rustc --release --locked --package wiregauge-capi --crate-type staticlib --manifest-path "', ...
            fullfile(here, '..', 'Cargo.toml'), '"']);
        if status ~= 0
            error('wiregauge:missing', 'cargo could not build the library; it comes from https://rustup.rs');
        end
    end
end
if ~isfile(library)
    error('wiregauge:missing', 'there is no library %s', library);
end
found = dir(fullfile(here, 'src', '*.c'));
sources = cellfun(@(name) fullfile(here, 'src', name), {found.name}, 'UniformOutput', false);
include = ['-I', options.Include];
system_libraries = {'-lpthread', '-ldl', '-lm'};
windows_libraries = {'-lntdll', '-luserenv', '-lws2_32', '-ldbghelp'}; % What rustc says with --print native-static-libs.
if ispc()
    system_libraries = windows_libraries;
elseif ismac()
    system_libraries = {'-framework', 'CoreFoundation', '-framework', 'IOKit'};
end
if exist('OCTAVE_VERSION', 'builtin')
    before = cd(tempdir()); % Octave leaves object files where it is.
    restore = onCleanup(@() cd(before));
    [output, status] = mkoctfile('--mex', '-s', '-o', fullfile(here, ['wiregauge_mex.', mexext()]), include, sources{:}, library, ...
        system_libraries{:}, '-Wl,--exclude-libs,ALL', '-Wl,--gc-sections');
    if status ~= 0
        error('wiregauge:missing', 'mkoctfile failed: %s', output);
    end
else
    if ispc() && by_gcc()
        system_libraries{end + 1} = 'LDFLAGS=$LDFLAGS -static-libgcc'; % Else it needs libgcc_s_seh-1.dll, which may not be found.
    end
    mex('-R2018a', '-outdir', here, '-output', 'wiregauge_mex', include, sources{:}, library, system_libraries{:});
end
fprintf('built %s\n', fullfile(here, ['wiregauge_mex.', mexext()]));
end

function yes = by_gcc()
% True where the compiler is MinGW's gcc: always in Octave, in MATLAB where `mex -setup C` chose it.
yes = true;
if ~exist('OCTAVE_VERSION', 'builtin')
    compiler = mex.getCompilerConfigurations('C', 'Selected');
    yes = ~isempty(compiler) && ~isempty(strfind(lower(compiler(1).ShortName), 'mingw')); %#ok<STREMP>
end
end
