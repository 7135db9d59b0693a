function [a, b, c, d] = ssdata(system)
%SSDATA  Its matrices.

[a, b, c, d] = system.matrices{:};
end
